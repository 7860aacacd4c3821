//! The words of an option with what each stands for. A word exists once: what is listed is what is understood.

use super::{Args, Kind};
use crate::core::Value;

pub struct Words<T: 'static, const N: usize> {
    table: [(&'static str, T); N],
    words: [&'static str; N],
}

impl<T: Copy, const N: usize> Words<T, N> {
    pub const fn new(table: [(&'static str, T); N]) -> Self {
        let mut words = [""; N];
        let mut place = 0;
        while place < N {
            words[place] = table[place].0;
            place += 1;
        }
        Self { table, words }
    }

    /// What a parameter with these words accepts.
    pub const fn kind(&'static self) -> Kind {
        Kind::Choice(&self.words)
    }

    /// What a parameter accepts that takes several of these words.
    pub const fn several(&'static self) -> Kind {
        Kind::Several(&self.words)
    }

    /// What the caller's words stand for, in the caller's order; `None` where nothing was given.
    pub fn several_given(&self, args: &Args, name: &str) -> Option<Vec<T>> {
        let Value::Array(given) = args.get(name)? else { return None };
        let meaning = |word: &Value| if let Value::Str(word) = word { self.find(word) } else { None };
        Some(args.want(name, given.iter().map(meaning).collect()))
    }

    /// What a word stands for, if it is one of these.
    fn find(&self, word: &str) -> Option<T> {
        self.table.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning)
    }

    /// What the caller's word stands for; `None` where something else was given or nothing.
    pub fn given(&self, args: &Args, name: &str) -> Option<T> {
        let word = args.word(name)?;
        Some(args.want(name, self.find(word)))
    }

    /// What the word of a parameter stands for that always has one.
    pub fn of(&self, args: &Args, name: &str) -> T {
        args.want(name, self.given(args, name))
    }
}
